-- Renew a front's presence: it waits for a job (decision 0383).
--
-- KEYS: 1 state of the job
-- ARGV: 1 seconds until the presence expires, 2 time to live of a state without one
-- Returns: nothing
-- Atomic: the expiry is a time of the server's clock, which the commit compares it with.
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'awaited_until', time[1] + time[2] / 1000000 + ARGV[1])
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
