-- Renew the lease of messages that a worker holds.
--
-- KEYS: 1 index of held messages by when they were last held (kombu's)
-- ARGV: delivery tags
-- Returns: nothing
-- Atomic: by one reading of the server's clock; those of the workers' machines may differ.
local time = redis.call('TIME')
for _, tag in ipairs(ARGV) do
    redis.call('ZADD', KEYS[1], 'XX', time[1] + time[2] / 1000000, tag)
end
