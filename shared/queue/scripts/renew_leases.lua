-- Renew the leases of the tasks that a worker holds, and delete expired ones.
--
-- KEYS: 1 ids of held tasks by when they were last reported
-- ARGV: 1 duration of a lease in seconds, 2.. ids of the held tasks
-- Returns: nothing
-- Atomic: all tasks get the same time, that of the server.
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now, ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 2 * ARGV[1])
