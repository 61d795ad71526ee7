-- Drop the cached states of keys, and leave a mark that keeps older states out for a while.
--
-- KEYS: the cached states
-- ARGV: 1 seconds that the mark stays, 2 channel of changes
-- Returns: nothing
-- Atomic: a state that is cached between deletion and mark would stay.
for _, key in ipairs(KEYS) do
    redis.call('DEL', key)
    redis.call('HSET', key, 'dropped', 1)
    redis.call('EXPIRE', key, ARGV[1])
    redis.call('PUBLISH', ARGV[2], key)
end
