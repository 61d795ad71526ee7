-- Commit a job: outcome, usage event, counters and reply (decision 0383).
--
-- KEYS: 1 state of the job, 2 reply list, 3 usage counters of the account's period, 4 usage stream
-- ARGV: 1 token of this attempt, 2 outcome, 3 its time to live in seconds, 4 that of the state,
--       5 deadline (seconds since 1970), 6 reader of the outcome ('front', 'front and record',
--       'record'), 7 time to live of the counters, 8 allowance,
--       9 cap in pages, 10 in microseconds ('' for none), 11.. pages, processor time and event of a metered
--       render: none or all three
-- Returns: {'committed'}, also if this attempt did before; {'ended'} if another did, {'late'} past the
--          deadline, {'unawaited'} if the front no longer waits, {'over', used} at a cap
-- Atomic: a job is ended, metered and answered together or not at all. All comparisons come
--         before all writes, by the server's clock.
--- @include metering
--- @include places

local reader = ARGV[6]
local events = {ARGV[11], ARGV[12], ARGV[13]}
local state = redis.call('HMGET', KEYS[1], 'done', 'awaited_until')
if state[1] == ARGV[1] then return {'committed'} end
if state[1] then return {'ended'} end
if #events > 0 then
    local time = redis.call('TIME')
    local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
    if now > tonumber(ARGV[5]) then return {'late'} end
    if reader == 'front' and state[2] and now > tonumber(state[2]) then return {'unawaited'} end
end
local checked = check_events(KEYS[3], ARGV[8], ARGV[9], ARGV[10], events)
if checked.calls < #events / 3 then return {'over', checked.verdicts[1]} end
record_events(KEYS[3], KEYS[4], ARGV[8], checked, ARGV[7])
redis.call('HSET', KEYS[1], 'done', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[4])
if reader ~= 'front' then redis.call('HSET', KEYS[1], 'outcome', ARGV[2]) end
if reader ~= 'record' then
    redis.call('RPUSH', KEYS[2], ARGV[2])
    redis.call('EXPIRE', KEYS[2], ARGV[3])
end
release_place(find_job(KEYS[1]), true)
return {'committed'}
