-- End a job without a commit: abandoned, cancelled, overdue, superseded, or withdrawn before a worker begins it.
--
-- KEYS: 1 state of the job, 2 reply list
-- ARGV: 1 reason of the end, 2 time to live of the state in seconds, 3 '1' to leave a job that was begun,
--       4 outcome for the front that waits ('' for none), 5 its time to live
-- Returns: false if this ended it; else {reason, outcome, reply} of its end, all false if it was begun and left
-- Atomic: a commit in between would be overwritten or give the front two outcomes, and a worker could begin a
--         job that was reported as not run.
--- @include places
local state = redis.call('HMGET', KEYS[1], 'done', 'outcome', 'deliveries')
if state[1] or (ARGV[3] == '1' and tonumber(state[3] or '0') > 0) then
    return {state[1], state[2], redis.call('LINDEX', KEYS[2], 0)}
end
redis.call('HSET', KEYS[1], 'done', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
if ARGV[4] ~= '' then
    redis.call('RPUSH', KEYS[2], ARGV[4])
    redis.call('EXPIRE', KEYS[2], ARGV[5])
end
release_place(find_job(KEYS[1]), true)
return false
