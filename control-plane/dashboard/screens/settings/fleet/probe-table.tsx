import { formatNumber } from '../../../core/format.ts'
import { Scroll } from '../../../parts/layout/section.tsx'
import { Ago } from '../../../parts/moment.tsx'
import { describeProbe, formatLoad, formatSpool, listProbeProblems, type Probe } from './probe-words.ts'

/** The probes with what they report. */
export const ProbeTable = ({ probes }: { probes: readonly Probe[] }) => (
  <Scroll name="Probes">
    <table class="fleet">
      <thead>
        <tr>
          <th scope="col">Probe</th>
          <th scope="col">State</th>
          <th scope="col" class="number">
            Monitors
          </th>
          <th scope="col" class="number">
            Checks now
          </th>
          <th scope="col" class="number">
            In the spool
          </th>
          <th scope="col">Version</th>
          <th scope="col">Heartbeat</th>
        </tr>
      </thead>
      <tbody>
        {probes.map(probe => (
          <ProbeRow key={probe.id} probe={probe} />
        ))}
      </tbody>
    </table>
  </Scroll>
)

function ProbeRow({ probe }: { probe: Probe }) {
  const { id, name, region, version, load, spool, drained_until: drainedUntil } = probe
  const problems = listProbeProblems(probe)
  return (
    <tr>
      <td>
        <b dir="auto">{name}</b>
        <br />
        <span class="soft small">{region}</span>
      </td>
      <td>
        <span class={probe.live ? undefined : probe.revoked ? 'soft' : 'degraded'} dir="auto">
          {describeProbe(probe)}
        </span>
        {problems.map(problem => (
          <p key={problem} class="degraded small">
            {problem}
          </p>
        ))}
        {drainedUntil !== null && (
          <details>
            <summary class="small">Give it work again</summary>
            <p class="small">The operator runs this on the machine of the control plane:</p>
            <pre dir="ltr">npm run admin -- probe undrain {id}</pre>
          </details>
        )}
      </td>
      <td class="number">{formatNumber(load.assignments)}</td>
      <td class="number">{formatLoad(load)}</td>
      <td class="number">{formatSpool(spool)}</td>
      <td dir="auto">{version}</td>
      <td class="nowrap">
        <Ago at={probe.last_heartbeat_at} />
      </td>
    </tr>
  )
}
