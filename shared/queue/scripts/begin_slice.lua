-- Begin a run of a chunk's next slice.
--
-- KEYS: 1 state of the chunk
-- ARGV: 1 time to live of the state in seconds, 2 index of the first document
-- Returns: the whole state, fields and values in turns
-- Atomic: `work` names the document that a run was at when it last spoke. A run that finds one has died
--         with it; the death is counted and the run's own document noted in one step, or two runs would
--         count one death twice.
local work = redis.call('HGET', KEYS[1], 'work')
if work then
    -- The run that is careful names each document before it begins, so that its death is that one's.
    local index, careful = string.match(work, '^(%d+):(%d)$')
    if careful == '1' then redis.call('HINCRBY', KEYS[1], 'deaths:' .. index, 1) end
    redis.call('HSET', KEYS[1], 'careful', 1)
end
local careful = redis.call('HGET', KEYS[1], 'careful') or '0'
redis.call('HSET', KEYS[1], 'work', ARGV[2] .. ':' .. careful)
redis.call('EXPIRE', KEYS[1], ARGV[1])
return redis.call('HGETALL', KEYS[1])
