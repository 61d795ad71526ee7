-- Renew the leases of the tasks that a worker holds, and drop leases that lapsed.
--
-- KEYS: 1 ids of held tasks by when they were last reported
-- ARGV: 1 seconds that a lease holds, 2.. ids of the held tasks
-- Returns: nothing
-- Atomic: the time is the server's own, for all tasks the same.
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now, ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 2 * ARGV[1])
