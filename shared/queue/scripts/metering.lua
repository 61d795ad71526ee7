-- Metering, included by the scripts that end work; not run by itself.
--
-- `check_events` reads and compares, `record_events` writes; a script calls the second after all
-- comparisons, so that it writes all or nothing.
--
-- events: a list of alternating pages and event text, the text '' for a document that is not metered.
-- cap: limit of pages of the account, '' for none. The document that exceeds the cap still counts: a render
-- is refused only if the cap was reached before it.

-- Return a verdict for each event ('' if it counts, the pages used before it if it is refused), and the sums
-- of the counted ones: {verdicts, pages, calls, texts}.
local function check_events(counters, allowance, cap, events)
    local used = tonumber(redis.call('HGET', counters, allowance .. ':pages') or '0')
    local checked = {verdicts = {}, pages = 0, calls = 0, texts = {}}
    for i = 1, #events, 2 do
        local verdict = ''
        if events[i + 1] ~= '' then
            if cap ~= '' and used + checked.pages >= tonumber(cap) then
                verdict = tostring(used + checked.pages)
            else
                checked.pages = checked.pages + tonumber(events[i])
                checked.calls = checked.calls + 1
                checked.texts[checked.calls] = events[i + 1]
            end
        end
        checked.verdicts[#checked.verdicts + 1] = verdict
    end
    return checked
end

-- Increment the account's counters and append the counted events to the usage stream.
local function record_events(counters, stream, allowance, checked, counter_ttl)
    if checked.calls == 0 then return end
    redis.call('HINCRBY', counters, allowance .. ':pages', checked.pages)
    redis.call('HINCRBY', counters, allowance .. ':calls', checked.calls)
    redis.call('EXPIRE', counters, counter_ttl)
    for _, text in ipairs(checked.texts) do redis.call('XADD', stream, '*', 'event', text) end
end
