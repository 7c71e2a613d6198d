import { formatNumber } from '../../core/format.ts'
import { useFrame } from '../../core/frame-context.ts'
import { type OperationResponse, read } from '../../core/operations.ts'
import { screen } from '../../core/screen.ts'
import { AreaTabs } from '../../parts/layout/area-tabs.tsx'
import { Facts, Section } from '../../parts/layout/section.tsx'
import { Loaded } from '../../parts/layout/states.tsx'
import { UsageBar } from './usage-bar.tsx'

type Project = OperationResponse<'readProject'>['data']
type Limits = Project['limits']
type CountedLimit = { [Name in keyof Limits]: Limits[Name] extends { used: number } ? Name : never }[keyof Limits]

const NAMES: Record<CountedLimit, string> = {
  monitors: 'Monitors',
  status_pages: 'Status pages',
  data_sources: 'Data sources',
  alert_channels: 'Alert channels',
  alert_subscriptions: 'Alert subscriptions',
  api_keys: 'API keys',
  maintenance_windows: 'Maintenance windows',
  open_incidents: 'Open incidents',
  subscribers: 'Subscribers of status pages',
  members: 'Members',
}

const ROLES = {
  viewer: 'sees everything',
  editor: 'changes monitors, alerts and pages',
  admin: 'changes everything, with members and keys',
}

/** `/settings`: the organization, its plan, and where the own account is. */
export const organizationScreen = screen({
  path: '/settings',
  area: 'settings',
  queries: () => ({ project: read('readProject', {}) }),
  title: () => 'Organization',
  Body: ({ results }) => {
    const { me, isInteractive, openOverlay } = useFrame()
    return (
      <>
        <h1>Organization</h1>
        <AreaTabs area="settings" current="/settings" />
        <div class="columns">
          <Section id="organization" title="Organization">
            <Facts
              rows={[
                ['Name', <bdi>{me.organization.name}</bdi>],
                ['Project', <bdi>{me.project.name}</bdi>],
                ['Your role', `${me.role}: ${ROLES[me.role]}`],
              ]}
            />
          </Section>
          <Section id="you" title="You">
            <Facts rows={[['Signed in as', <bdi>{me.user?.email}</bdi>]]} />
            <div class="actions spaced">
              <a class="button" href="/account">
                Account, password and sessions
              </a>
              <button type="button" disabled={!isInteractive} onClick={() => openOverlay('display')}>
                Theme, rows and time zone
              </button>
            </div>
          </Section>
        </div>
        <Section id="plan" title="Plan">
          <Loaded result={results.project} what="The plan and its use">
            {({ data }) => <Plan project={data} />}
          </Loaded>
        </Section>
      </>
    )
  },
})

const Plan = ({ project: { plan, limits } }: { project: Project }) => (
  <>
    <p>
      The plan is <strong>{plan}</strong>. What exceeds a limit cannot be created; what exists keeps working. The
      operator of this installation changes plans and limits.
    </p>
    <table class="usage">
      <thead>
        <tr>
          <th scope="col">Limit</th>
          <th scope="col" class="number">
            In use
          </th>
          <th scope="col" class="number">
            Included
          </th>
          <th scope="col">
            <span class="hidden">Share</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {(Object.keys(NAMES) as CountedLimit[]).map(name => (
          <UsageRow key={name} name={NAMES[name]} {...limits[name]} />
        ))}
      </tbody>
    </table>
    <div class="spaced">
      <Facts
        rows={[
          ['Shortest interval', `${limits.min_interval_seconds} s`],
          ['Alert rules of a monitor', `at most ${limits.rules_per_monitor}`],
          ['Channels to one host', `at most ${limits.channels_per_host}`],
          ['Custom domains of status pages', limits.custom_domain ? 'included' : 'not included'],
        ]}
      />
    </div>
  </>
)

const UsageRow = ({ name, used, limit }: { name: string; used: number; limit: number | null }) => {
  const isFull = limit !== null && used >= limit
  return (
    <tr>
      <td>{name}</td>
      <td class={isFull ? 'number degraded' : 'number'}>
        {formatNumber(used)}
        {isFull && ' (full)'}
      </td>
      <td class="number">{limit === null ? 'no limit' : formatNumber(limit)}</td>
      <td class="share">{limit !== null && <UsageBar used={used} limit={limit} />}</td>
    </tr>
  )
}
