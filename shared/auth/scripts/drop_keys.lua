-- Invalidate cached states of keys, and leave a marker that rejects older states for a while.
--
-- KEYS: the cached states
-- ARGV: 1 time to live of the marker in seconds
-- Returns: nothing
-- Atomic: a state cached between deletion and marker would stay.
for _, key in ipairs(KEYS) do
    redis.call('DEL', key)
    redis.call('HSET', key, 'dropped', 1)
    redis.call('EXPIRE', key, ARGV[1])
end
