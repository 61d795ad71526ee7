-- Renew a front's note that it waits for a job (decision 0012).
--
-- KEYS: 1 state of the job
-- ARGV: 1 seconds that the note holds, 2 time to live of a state that has none
-- Returns: nothing
-- Atomic: the note is a time of the server's own clock, which the commit compares it with.
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'awaited_until', time[1] + time[2] / 1000000 + ARGV[1])
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
