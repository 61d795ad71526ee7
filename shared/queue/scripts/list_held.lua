-- List the tasks with a valid lease.
--
-- KEYS: 1 ids of held tasks by when they were last reported
-- ARGV: 1 duration of a lease in seconds
-- Returns: the ids
-- Atomic: the leases are compared with the server's time.
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
return redis.call('ZRANGEBYSCORE', KEYS[1], now - ARGV[1], '+inf')
