-- Start a run of a chunk's next slice.
--
-- KEYS: 1 state of the chunk
-- ARGV: 1 time to live of the state in seconds, 2 index of the first document
-- Returns: the whole state, fields and values alternately
-- Atomic: `work` is the document that a run was processing. If it is set at the start of a run, the run
--         before died there; its death is counted and the new document set in one step, or two runs would
--         count it twice.
local work = redis.call('HGET', KEYS[1], 'work')
if work then
    -- A careful run sets each document before it starts it, so the death is attributed to that one.
    local index, careful = string.match(work, '^(%d+):(%d)$')
    if careful == '1' then redis.call('HINCRBY', KEYS[1], 'deaths:' .. index, 1) end
    redis.call('HSET', KEYS[1], 'careful', 1)
end
local careful = redis.call('HGET', KEYS[1], 'careful') or '0'
redis.call('HSET', KEYS[1], 'work', ARGV[2] .. ':' .. careful)
redis.call('EXPIRE', KEYS[1], ARGV[1])
return redis.call('HGETALL', KEYS[1])
