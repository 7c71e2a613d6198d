import type { ComponentChildren } from 'preact'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { OperationButton } from '../../../parts/forms/operation-form.tsx'
import { Facts } from '../../../parts/layout/section.tsx'
import { Moment } from '../../../parts/moment.tsx'
import type { Check } from '../types.ts'

/** The screenshot of a failed check, next to the picture to which it was compared. */
export function Screenshots({ check, baseline }: { check: Check; baseline: string | null }) {
  if (!check.screenshot_url) return null
  return (
    <>
      <h3>Screenshot</h3>
      <div class="pictures">
        <Picture
          url={check.screenshot_url}
          alt={check.status === 'up' ? 'The page at the time of the check' : 'The page at the time of the failure'}
        >
          This check
        </Picture>
        {baseline && (
          <Picture url={baseline} alt="The page as it should look">
            Baseline
          </Picture>
        )}
      </div>
    </>
  )
}

const Picture = ({ url, alt, children }: { url: string; alt: string; children: ComponentChildren }) => (
  <figure>
    <figcaption class="small soft">{children}</figcaption>
    <a href={url}>
      <img src={url} alt={alt} width="320" loading="lazy" />
    </a>
  </figure>
)

/** Accepts how the page looks now. The operation is one for all regions, which the text says. */
export function BaselineAcceptance({ monitorId }: { monitorId: string }) {
  const { me } = useFrame()
  if (!canWrite(me)) return null
  const acceptance = call('acceptMonitorScreenshots', { path: { id: monitorId } })
  return (
    <>
      <p class="soft">
        The newest comparison of each region becomes its baseline. Where the settings have changed since, the next one
        does.
      </p>
      <OperationButton action={`/monitors/${monitorId}/baseline`} text="Accept as baseline" call={acceptance} />
      <AsCall call={acceptance} />
    </>
  )
}

/** The certificate of the target, and those that it sent with it. */
export function Certificates({ check }: { check: Check }) {
  const { certificate, evidence } = check
  const sent = evidence?.chain ?? []
  const others = sent.filter(({ fingerprint }) => fingerprint !== certificate?.fingerprint)
  const all = certificate ? [certificate, ...others] : others
  if (all.length === 0) return null
  return (
    <>
      <h3>Certificate</h3>
      {all.map(one => (
        <Facts
          key={one.fingerprint}
          rows={[
            ['Subject', <bdi>{one.subject}</bdi>],
            ['Issuer', <bdi>{one.issuer}</bdi>],
            ['Valid from', <Moment at={one.valid_from} />],
            ['Valid until', <Moment at={one.valid_to} />],
            ['Names', <bdi>{one.names.join(', ')}</bdi>],
            ['SHA-256', <code>{one.fingerprint}</code>],
          ]}
        />
      ))}
    </>
  )
}
