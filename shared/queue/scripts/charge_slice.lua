-- Count what a slice made, once: journal, usage events and counters (decision 0003, for many documents).
--
-- KEYS: 1 state of the chunk, 2 usage counters of the account's period, 3 usage stream
-- ARGV: 1 cursor behind the slice, 2 journal of this run, 3 time to live of the state in seconds,
--       4 that of the counters, 5 allowance, 6 cap in pages ('' for none), 7.. pages and event of each
--       document, the event '' where no PDF was made
-- Returns: {'charged', journal of the run that was first or '' where this one was, verdicts with commas};
--          {'stale'} where the slice is on record; {'unseeded'} where a cap cannot be judged yet
-- Atomic: of two runs of a slice one is counted, and the other learns what holds. All comparisons come
--         before all writes.
--- @include metering

local state = redis.call('HMGET', KEYS[1], 'settled', 'journal', 'verdicts', 'charged_at')
if state[1] and tonumber(state[1]) > tonumber(ARGV[1]) then return {'stale'} end
if state[2] and state[4] == ARGV[1] then return {'charged', state[2], state[3]} end
if ARGV[6] ~= '' and redis.call('HEXISTS', KEYS[2], 'seeded') == 0 then return {'unseeded'} end
-- Not by `unpack`, whose results are bounded: a slice may have thousands of documents.
local events = {}
for i = 7, #ARGV do events[i - 6] = ARGV[i] end
local judged = judge_events(KEYS[2], ARGV[5], ARGV[6], events)
record_events(KEYS[2], KEYS[3], ARGV[5], judged, ARGV[4])
local verdicts = table.concat(judged.verdicts, ',')
redis.call('HSET', KEYS[1], 'journal', ARGV[2], 'verdicts', verdicts, 'charged_at', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return {'charged', '', verdicts}
