-- Commit a slice once: checkpoint, usage events and counters (decision 0383, for many documents).
--
-- KEYS: 1 state of the chunk, 2 usage counters of the account's period, 3 usage stream
-- ARGV: 1 cursor after the slice, 2 checkpoint of this run, 3 time to live of the state in seconds,
--       4 that of the counters, 5 allowance, 6 cap in pages, 7 in microseconds ('' for none), 8.. pages,
--       processor time and event of each document, the event '' if it has no PDF
-- Returns: {'charged', checkpoint of the first run or '' for this one, verdicts separated by commas};
--          {'stale'} if the slice is recorded; {'unseeded'} if counters are missing for a cap
-- Atomic: of two runs of a slice one is metered, and the other gets its checkpoint. All comparisons come
--         before all writes.
--- @include metering

local state = redis.call('HMGET', KEYS[1], 'settled', 'journal', 'verdicts', 'charged_at')
if state[1] and tonumber(state[1]) > tonumber(ARGV[1]) then return {'stale'} end
if state[2] and state[4] == ARGV[1] then return {'charged', state[2], state[3]} end
if ARGV[6] .. ARGV[7] ~= '' and redis.call('HEXISTS', KEYS[2], 'seeded:cpu') == 0 then return {'unseeded'} end
-- Not `unpack`, whose number of results is limited: a slice may have thousands of documents.
local events = {}
for i = 8, #ARGV do events[i - 7] = ARGV[i] end
local checked = check_events(KEYS[2], ARGV[5], ARGV[6], ARGV[7], events)
record_events(KEYS[2], KEYS[3], ARGV[5], checked, ARGV[4])
local verdicts = table.concat(checked.verdicts, ',')
redis.call('HSET', KEYS[1], 'journal', ARGV[2], 'verdicts', verdicts, 'charged_at', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return {'charged', '', verdicts}
