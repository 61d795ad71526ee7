-- Set the counters of an account's period from the ledger's totals, once.
--
-- KEYS: 1 usage counters
-- ARGV: 1 time to live in seconds, 2.. field and value of each counter
-- Returns: 1 if they were set, 0 if they had been set before
-- Atomic: a commit between reading and writing a counter would be lost. Renders counted since the counters
--         were lost may or may not be in the ledger: the larger value is used, which is exact in the usual
--         case of no counters.
if redis.call('HEXISTS', KEYS[1], 'seeded:cpu') == 1 then return 0 end
for i = 2, #ARGV, 2 do
    local have = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '0')
    redis.call('HSET', KEYS[1], ARGV[i], math.max(have, tonumber(ARGV[i + 1])))
end
redis.call('HSET', KEYS[1], 'seeded:cpu', 1)
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
