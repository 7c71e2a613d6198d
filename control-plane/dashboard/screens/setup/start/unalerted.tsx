import { useState } from 'preact/hooks'
import { buildAddress, parsePage } from '../../../core/address.ts'
import { formatCount } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { UNALERTED_PATH } from '../../../core/frame-reads.ts'
import { call, type OperationResponse, read } from '../../../core/operations.ts'
import { type Result, screen } from '../../../core/screen.ts'
import { AsCall, NeedsScript } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { CheckField, SelectField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { Pager } from '../../../parts/layout/pager.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { UNDO_MS } from '../../../parts/monitors/undo-time.ts'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { getShownStatus, Status } from '../../../parts/status.tsx'
import { alertAll, describeAlertAll } from './alert-all.ts'

type Channels = OperationResponse<'listAlertChannels'>
type Channel = Channels['data'][number]
type Monitors = OperationResponse<'listMonitors'>

/** `/monitors/unalerted`: the active monitors whose outages are sent to no channel, and the form that changes it. */
export const unalertedScreen = screen({
  path: UNALERTED_PATH,
  area: 'monitors',
  queries: ({ search }) => ({
    monitors: read('listMonitors', {
      query: { alerted: false, paused: false, sort: 'name', per_page: 50, page: parsePage(search) },
    }),
    channels: read('listAlertChannels', { query: { per_page: 100 } }),
  }),
  title: () => 'Monitors without an alert channel',
  Body: ({ results: { monitors, channels } }) => {
    const { me } = useFrame()
    const total = monitors.data?.meta.total ?? 0
    return (
      <>
        <p class="trail">
          <a href="/monitors">Monitors</a>
        </p>
        <h1>Monitors without an alert channel</h1>
        <p class="soft">
          They are checked, but an outage is sent to no channel: there is no rule for it, or its channels are paused.
        </p>
        <NeedsRole what="Choosing who is alerted" needed="editor" />
        {canWrite(me) && (
          <Section id="alert" title="Who is alerted?">
            <Loaded result={channels} what="The channels">
              {list => <AlertChoice channels={list} total={total} />}
            </Loaded>
          </Section>
        )}
        <UnalertedList result={monitors} />
      </>
    )
  },
})

const UnalertedList = ({ result }: { result: Result<Monitors> }) => (
  <Section id="monitors" title="Monitors">
    <Loaded result={result} what="The monitors">
      {({ data, meta }) =>
        meta.total === 0 ? (
          <Empty text="Every active monitor alerts at least one channel." />
        ) : (
          <>
            <ul class="list">
              {data.map(monitor => (
                <li key={monitor.id}>
                  <Status status={getShownStatus(monitor)} />{' '}
                  <a href={`/monitors/${monitor.id}`} dir="auto">
                    {monitor.name}
                  </a>{' '}
                  <span class="soft" dir="auto">
                    {monitor.type} {monitor.url}
                  </span>
                </li>
              ))}
            </ul>
            <Pager meta={meta} what="monitors" buildPath={page => buildAddress(UNALERTED_PATH, { page })} />
          </>
        )
      }
    </Loaded>
  </Section>
)

/** What the form did. `undo`: the change that takes it back, which is offered until `untilMs`. */
type SetUpResult = {
  channel: Channel
  isNewDefault: boolean
  sentence: string
  undo: OperationResponse<'changeMonitors'>['data']['undo']
  untilMs: number
}

function useAlertAll() {
  const { execute, nowMs } = useFrame()
  const attempt = useAttempt()
  const [done, setDone] = useState<SetUpResult | null>(null)
  const setDefault = ({ id }: Channel, is_default: boolean) =>
    attempt.run(() => execute('updateAlertChannel', { path: { id }, body: { is_default } }))
  const alert = async (channel: Channel, isNewDefault: boolean) => {
    const result = await attempt.run(() => alertAll(execute, channel.id))
    if (!result) return
    const sentence = describeAlertAll(channel.name, result.data)
    setDone({ channel, isNewDefault, sentence, undo: result.data.undo, untilMs: nowMs + UNDO_MS })
    if (isNewDefault) await setDefault(channel, true)
  }
  const undo = async ({ channel, isNewDefault, undo: body }: SetUpResult) => {
    const result = body && (await attempt.run(() => execute('changeMonitors', { body })))
    if (!result) return
    const { refused } = result.data
    const left = refused > 0 ? ` ${formatCount(refused, 'monitor')} changed since and kept the rule.` : ''
    const sentence = `The rules of ${channel.name} are removed again.${left}`
    setDone(current => current && { ...current, sentence, undo: null })
    if (isNewDefault) await setDefault(channel, false)
  }
  return { done, attempt, alert, undo }
}

/** Chooses one channel for all monitors without an alert channel. */
function AlertChoice({ channels, total }: { channels: Channels; total: number }) {
  const { isInteractive, nowMs } = useFrame()
  const { done, attempt, alert, undo } = useAlertAll()
  const { isBusy, error } = attempt
  const open = channels.data.filter(({ is_paused }) => !is_paused)
  const [chosenId, choose] = useState<string | null>(null)
  const [alsoNew, setAlsoNew] = useState(true)
  const channel = open.find(({ id }) => id === chosenId) ?? open[0]
  if (!channel) return <NoOpenChannel hasPaused={channels.data.length > 0} />
  const submit = (event: Event) => {
    event.preventDefault()
    void alert(channel, alsoNew && !channel.is_default)
  }
  const addition = toRuleAddition(channel)
  return (
    <>
      {done && <p role="status">{done.sentence}</p>}
      {done?.undo && nowMs < done.untilMs && (
        <div class="actions">
          <button type="button" disabled={isBusy} onClick={() => undo(done)}>
            Undo
          </button>
        </div>
      )}
      {total > 0 && <NeedsScript what="Choosing a channel" call={addition} />}
      {total > 0 && (
        <form class="alert-choice scripted" onSubmit={submit}>
          <fieldset class="plain stack" disabled={!isInteractive}>
            <SelectField
              path="channel"
              label="Channel"
              errors={NO_ERRORS}
              value={channel.id}
              options={open.map(({ id, name }): [string, string] => [id, name])}
              onChange={choose}
            />
            {!channel.is_default && (
              <CheckField
                path="is_default"
                label="Also alert it about every new monitor"
                errors={NO_ERRORS}
                value={alsoNew}
                onChange={setAlsoNew}
              />
            )}
            <FormMessages error={error} shown={[]} />
            <div class="actions">
              <button type="submit" class="main" disabled={isBusy}>
                Alert it about {formatCount(total, 'monitor')}
              </button>
              <a class="button" href="/settings/channels/new">
                Add a channel
              </a>
            </div>
          </fieldset>
          <AsCall call={addition} />
        </form>
      )}
    </>
  )
}

const NO_ERRORS = buildFormErrors([])

const toRuleAddition = ({ id }: Channel) =>
  call('changeMonitors', {
    body: {
      query: { alerted: false, paused: false },
      change: { alert_rules: { add: [{ alert_channel_id: id }] } },
      dry_run: false,
    },
  })

const NoOpenChannel = ({ hasPaused }: { hasPaused: boolean }) => (
  <Empty text={hasPaused ? 'Every channel is paused.' : 'There is no channel yet.'}>
    <div class="actions">
      {hasPaused && (
        <a class="button" href="/settings/channels">
          Open the channels
        </a>
      )}
      <a class="button main" href="/settings/channels/new">
        Add a channel
      </a>
    </div>
  </Empty>
)
