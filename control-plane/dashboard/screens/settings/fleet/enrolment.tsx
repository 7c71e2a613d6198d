import { useRef, useState } from 'preact/hooks'
import type { OperationResponse } from '../../../core/operations.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { SelectField } from '../../../parts/forms/fields.tsx'
import { CopiedCommand } from './copied-command.tsx'
import type { Probe } from './probe-words.ts'

type Region = OperationResponse<'listRegions'>['data'][number]

const NO_ERRORS = buildFormErrors([])

/** The commands that add a probe, and whether a new one has connected. */
export function Enrolment({ regions, probes }: { regions: readonly Region[]; probes: readonly Probe[] }) {
  const [region, setRegion] = useState<string>(regions[0]?.region ?? 'us-east')
  return (
    <div class="stack">
      <SelectField
        path="enrol-region"
        label="Region"
        errors={NO_ERRORS}
        value={region}
        options={regions.map(({ region: code, name }) => [code, `${name} (${code})`])}
        onChange={setRegion}
      />
      <CopiedCommand
        label="1. On the machine of the control plane. It prints a token for one probe, which is valid for 7 days."
        command={`npm run admin -- probe-token create --region ${region}`}
      />
      <CopiedCommand
        label="2. On the new machine, with the token, the address of your fleet and the place of the built probe."
        command="FLEET_URL=fleet.example.com:443 PROBE_TOKEN=prb_… sh install-probe.sh --from https://example.com/picket"
      />
      <NewProbes region={region} probes={probes} />
    </div>
  )
}

/** The probes of a region that were not there when the page was opened. The page reads them again by itself. */
function NewProbes({ region, probes }: { region: string; probes: readonly Probe[] }) {
  const known = useRef(new Set(probes.map(({ id }) => id)))
  const arrived = probes.filter(
    ({ id, region: its, connected_since: since }) => its === region && since !== null && !known.current.has(id),
  )
  return (
    <p class="missing" role="status">
      {arrived.length === 0 ? (
        `Waiting for a new probe in ${region}. It appears here when it connects.`
      ) : (
        <>
          Connected:{' '}
          {arrived.map(({ id, name, live }, i) => (
            <span key={id}>
              {i > 0 && ', '}
              <b dir="auto">{name}</b> {live ? 'gets work' : 'is being given work'}
            </span>
          ))}
          .
        </>
      )}
    </p>
  )
}
