-- End a job that no worker has begun; the worker that receives its message drops it.
--
-- KEYS: 1 state of the job
-- ARGV: 1 reason of the end, 2 time to live of the state in seconds
-- Returns: 1 if it was withdrawn, 0 if it was begun or has ended
-- Atomic: a worker could otherwise begin a job that was reported as not run.
--- @include places
local state = redis.call('HMGET', KEYS[1], 'done', 'deliveries')
if state[1] or tonumber(state[2] or '0') > 0 then return 0 end
redis.call('HSET', KEYS[1], 'done', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
release_place(find_job(KEYS[1]), true)
return 1
