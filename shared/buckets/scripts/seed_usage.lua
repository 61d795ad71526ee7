-- Take over the ledger's totals as the counters of an account's period, once.
--
-- KEYS: 1 usage counters
-- ARGV: 1 time to live in seconds, 2.. field and value of each counter
-- Returns: 1 where they were taken over, 0 where they had been before
-- Atomic: a commit between reading and writing a counter would be lost. What was counted since the
--         counters were lost may or may not be in the ledger: the larger of the two is kept, which is
--         exact for the usual case of no counters at all.
if redis.call('HEXISTS', KEYS[1], 'seeded') == 1 then return 0 end
for i = 2, #ARGV, 2 do
    local have = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '0')
    redis.call('HSET', KEYS[1], ARGV[i], math.max(have, tonumber(ARGV[i + 1])))
end
redis.call('HSET', KEYS[1], 'seeded', 1)
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
