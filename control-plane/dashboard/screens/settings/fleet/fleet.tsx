import { formatCount, formatNumber } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { type OperationResponse, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Scroll, Section } from '../../../parts/layout/section.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { Ago } from '../../../parts/moment.tsx'
import { Enrolment } from './enrolment.tsx'
import { ProbeTable } from './probe-table.tsx'

type Region = OperationResponse<'listRegions'>['data'][number]

/** `/fleet`: the regions, and for the operator the probes with their load, and how to add one. */
export const fleetScreen = screen({
  path: '/fleet',
  area: 'monitors',
  queries: () => ({
    regions: read('listRegions', { query: { per_page: 100 } }),
    probes: read('listProbes', { query: { per_page: 100 } }),
  }),
  title: () => 'Regions',
  Body: ({ results: { regions, probes } }) => {
    const { me } = useFrame()
    return (
      <>
        <h1>Regions</h1>
        <AreaTabs area="monitors" current="/fleet" />
        <p class="spaced">
          Monitors are checked from these regions. A region without a live probe does not vote, and nothing is reported
          as an outage because of it.
        </p>
        <Loaded result={regions} what="The regions">
          {({ data }) => <RegionTable regions={data} hasLoad={me.is_operator} />}
        </Loaded>
        {me.is_operator ? (
          <>
            <Section id="probes" title="Probes">
              <Loaded result={probes} what="The probes">
                {({ data, meta }) =>
                  meta.total === 0 ? (
                    <Empty text="No probe has connected yet. Add one below." />
                  ) : (
                    <>
                      <ProbeTable probes={data} />
                      {meta.total > data.length && (
                        <p class="soft small">
                          The newest {data.length} of {formatCount(meta.total, 'probe')}.
                        </p>
                      )}
                    </>
                  )
                }
              </Loaded>
            </Section>
            <Section id="enrol" title="Add a probe">
              {probes.data && <Enrolment regions={regions.data?.data ?? []} probes={probes.data.data} />}
            </Section>
          </>
        ) : (
          <p class="soft small spaced">
            The probes of a region, with their load, are shown to the people of the operator project.
          </p>
        )}
      </>
    )
  },
})

/** `hasLoad`: with what only the operator sees. */
const RegionTable = ({ regions, hasLoad }: { regions: readonly Region[]; hasLoad: boolean }) => (
  <Scroll name="Regions">
    <table class="fleet">
      <thead>
        <tr>
          <th scope="col">Region</th>
          <th scope="col">State</th>
          <th scope="col" class="number">
            Live probes
          </th>
          {hasLoad && (
            <>
              <th scope="col" class="number">
                Monitors
              </th>
              <th scope="col" class="number">
                Without a probe
              </th>
              <th scope="col" class="number">
                Drained
              </th>
            </>
          )}
        </tr>
      </thead>
      <tbody>
        {regions.map(region => (
          <tr key={region.region}>
            <td>
              <bdi>{region.name}</bdi> <code class="soft">{region.region}</code>
            </td>
            <td>
              <RegionState region={region} />
            </td>
            <td class="number">{region.live_probes}</td>
            {hasLoad && (
              <>
                <td class="number">{formatNumber(region.monitors?.assigned ?? 0)}</td>
                <td class={region.monitors?.unassigned ? 'number degraded' : 'number'}>
                  {formatNumber(region.monitors?.unassigned ?? 0)}
                </td>
                <td class="number">{region.drained_probes ?? 0}</td>
              </>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
)

const RegionState = ({ region: { is_live: isLive, no_live_probe_since: since } }: { region: Region }) => {
  if (isLive) return <>live</>
  return since === null ? (
    <span class="soft">not used yet</span>
  ) : (
    <span class="degraded">
      no live probe since <Ago at={since} />
    </span>
  )
}
