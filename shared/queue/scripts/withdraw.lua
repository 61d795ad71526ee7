-- End a job that no worker has begun; its message finds it ended.
--
-- KEYS: 1 state of the job
-- ARGV: 1 word to end it with, 2 time to live of the state in seconds
-- Returns: 1 where it was withdrawn, 0 where it was begun or has ended
-- Atomic: a worker that begins the job in between would run what was answered as not run.
local state = redis.call('HMGET', KEYS[1], 'done', 'deliveries')
if state[1] or tonumber(state[2] or '0') > 0 then return 0 end
redis.call('HSET', KEYS[1], 'done', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
