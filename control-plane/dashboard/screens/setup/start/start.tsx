import { buildAddress } from '../../../core/address.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { FRAME_READS } from '../../../core/frame-reads.ts'
import { call, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { NeedsScript } from '../../../parts/calls/as-call.tsx'
import { Loaded } from '../../../parts/layout/states.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { ChannelStep } from './channel-step.tsx'
import { CreatedMonitor, MonitorStep } from './monitor-step.tsx'
import { OutageStep } from './outage-step.tsx'

const STEPS = [
  ['monitor', 'Monitor'],
  ['alerts', 'Alerts'],
  ['outage', 'An outage'],
] as const
type StepName = (typeof STEPS)[number][0]

const EXAMPLE = call('createMonitor', { body: { name: 'Shop', type: 'http', url: 'https://shop.example.com/' } })

/**
 * `/start`: the first monitor, the first channel, and what an outage looks like. `?step=`; `?url=` is the address to try,
 * `?monitor=` the monitor that was created. Each step can be skipped.
 */
export const startScreen = screen({
  path: '/start',
  area: 'overview',
  queries: ({ search }) => {
    const id = search.get('monitor')
    return {
      ...FRAME_READS,
      regions: read('listRegions', { query: { per_page: 100 } }),
      channels: read('listAlertChannels', { query: { per_page: 100 } }),
      ...(id && {
        monitor: read('readMonitor', { path: { id } }),
        votes: read('listMonitorVotes', { path: { id } }),
      }),
    }
  },
  title: ({ search }) => STEPS.find(([name]) => name === parseStep(search))![1],
  Body: ({ search, results }) => {
    const { me } = useFrame()
    const step = parseStep(search)
    const monitorId = search.get('monitor')
    const toStep = (name: StepName) => buildAddress('/start', { step: name, monitor: monitorId })
    if (!canWrite(me)) return <NeedsRole what="Creating monitors and channels" needed="editor" />
    const { monitor, votes } = results
    return (
      <>
        <h1>First steps</h1>
        <nav class="tabs" aria-label="Steps">
          {STEPS.map(([name, text], i) => (
            <a key={name} href={toStep(name)} aria-current={name === step ? 'step' : undefined}>
              {i + 1}. {text}
            </a>
          ))}
        </nav>
        <NeedsScript what="Creating a monitor" call={EXAMPLE} />
        {step === 'monitor' && !monitor && (
          <MonitorStep
            key={search.get('url')}
            address={search.get('url') ?? ''}
            regions={results.regions.data?.data ?? null}
            skipPath={toStep('alerts')}
          />
        )}
        {step === 'monitor' && monitor && (
          <Loaded result={monitor} what="The monitor">
            {({ data }) => (
              <CreatedMonitor monitor={data} votes={votes?.data?.data ?? null} nextPath={toStep('alerts')} />
            )}
          </Loaded>
        )}
        {step === 'alerts' && (
          <Loaded result={results.channels} what="The channels">
            {({ data }) => (
              <ChannelStep
                channels={data}
                unalerted={results.unalerted.data?.meta.total ?? 0}
                nextPath={toStep('outage')}
              />
            )}
          </Loaded>
        )}
        {step === 'outage' && (
          <OutageStep channels={results.channels} monitor={monitor?.data?.data ?? null} nextPath="/" />
        )}
      </>
    )
  },
})

const parseStep = (search: URLSearchParams): StepName =>
  STEPS.find(([name]) => name === search.get('step'))?.[0] ?? 'monitor'
