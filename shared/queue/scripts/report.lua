-- Store the report of a process, and delete those of processes that ended long ago.
--
-- KEYS: 1 reports by name of the process, 2 index of them by time
-- ARGV: 1 name of the process, 2 report, 3 seconds after which others are deleted
-- Returns: nothing
-- Atomic: hash and index stay consistent, by the server's clock.
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], time[1], ARGV[1])
local old = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', time[1] - ARGV[3], 'LIMIT', 0, 100)
for _, name in ipairs(old) do
    redis.call('HDEL', KEYS[1], name)
    redis.call('ZREM', KEYS[2], name)
end
