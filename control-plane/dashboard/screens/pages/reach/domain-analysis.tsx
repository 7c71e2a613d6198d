import { useState } from 'preact/hooks'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { Scroll } from '../../../parts/layout/section.tsx'
import { Moment } from '../../../parts/moment.tsx'
import { CopyField } from './copy-field.tsx'
import type { StatusPageRecord } from './page-head.tsx'

export type DomainAnalysisRecord = OperationResponse<'analyzeStatusPageCustomDomain'>['data']

/** Whether only this machine or its network knows the name, so that no record of a public zone can lead to it. */
export const isLocalName = (host: string) => !host.includes('.') || /^[\d.]+$|\.local(host)?$/.test(host)

/** What a domain has and still needs: the steps, the records to copy, and what to do next. */
export function Analysis({ analysis, page }: { analysis: DomainAnalysisRecord; page: StatusPageRecord }) {
  const { dns_provider: provider, instructions, domain_connect: connect, verified } = analysis
  return (
    <div class="stack analysis">
      {isLocalName(analysis.cname_target) && (
        <p class="missing">
          This installation has the name <bdi class="mono">{analysis.cname_target}</bdi>, which visitors cannot reach.
          Its operator first sets <code>PUBLIC_URL</code> or <code>CUSTOM_DOMAIN_TARGET</code> to a public name.
        </p>
      )}
      <Steps analysis={analysis} isPublished={page.is_published} />
      <Scroll name="Records">
        <table class="rows records">
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">Type</th>
              <th scope="col">Name</th>
              <th scope="col">Value</th>
            </tr>
          </thead>
          <tbody>
            {analysis.records.map(({ type, name, value, ok }) => (
              <tr key={type}>
                <td class="nowrap">{ok ? '✓ in place' : <span class="degraded">not found</span>}</td>
                <td class="nowrap">{type}</td>
                <td class="labelled" data-label="Name">
                  <CopyField label={`the name of the ${type} record`} value={name} />
                </td>
                <td class="labelled" data-label="Value">
                  <CopyField label={`the value of the ${type} record`} value={value} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p class="soft small">
        {provider.name ? `The zone is at ${provider.name}` : 'The DNS provider is not known'}
        {provider.nameservers.length > 0 && ` (${provider.nameservers.join(', ')})`}.
      </p>
      {!verified && connect.available && <Connect analysis={analysis} pageId={page.id} />}
      <ul class="instructions">
        {instructions.map(text => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </div>
  )
}

const CERTIFICATE_WORDS = {
  none: 'The certificate follows when the domain points here',
  pending: 'The certificate is issued when the page is opened for the first time',
  active: 'The certificate is there',
  error: 'The certificate that visitors get is not trusted',
}

/** The reverse proxy obtains no certificate for a page that is not published. */
const HIDDEN_WORDS = 'The certificate is issued when the page is published'

/** The way to a page that is served at the domain, with what is done. */
function Steps({
  analysis: { domain, records, verified, ssl },
  isPublished,
}: {
  analysis: DomainAnalysisRecord
  isPublished: boolean
}) {
  const isHidden = ssl.status === 'pending' && !isPublished
  const [pointing, proof] = [records.filter(one => one.type !== 'TXT'), records.filter(one => one.type === 'TXT')]
  const steps: [isDone: boolean, text: string][] = [
    [pointing.every(({ ok }) => ok), `${domain} points here`],
    [proof.every(({ ok }) => ok), 'The TXT record proves that it is yours'],
    [verified, 'The domain is verified'],
    [ssl.status === 'active', isHidden ? HIDDEN_WORDS : CERTIFICATE_WORDS[ssl.status]],
  ]
  return (
    <ol class="steps" aria-label="Steps">
      {steps.map(([isDone, text]) => (
        <li key={text} class={isDone ? 'done' : undefined}>
          <span aria-hidden="true">{isDone ? '✓' : '○'}</span> {text}
          <span class="hidden">{isDone ? ': done' : ': not yet'}</span>
        </li>
      ))}
      {ssl.status === 'active' && (
        <li class="done">
          <span aria-hidden="true">✓</span>{' '}
          <a href={`https://${domain}/`} target="_blank" rel="noreferrer">
            Open {domain}
          </a>
          {ssl.issuer && <small class="soft"> Certificate of {ssl.issuer}</small>}
          {ssl.expires_at && (
            <small class="soft">
              , valid until <Moment at={ssl.expires_at} part="date" />
            </small>
          )}
        </li>
      )}
      {verified && ssl.status === 'pending' && isPublished && (
        <li>
          <a class="button" href={`https://${domain}/`} target="_blank" rel="noreferrer">
            Open {domain} once
          </a>
        </li>
      )}
    </ol>
  )
}

/** Lets the DNS provider set the records (Domain Connect). */
function Connect({
  analysis: { domain, dns_provider: provider },
  pageId,
}: {
  analysis: DomainAnalysisRecord
  pageId: string
}) {
  const { execute, nowMs } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const [launch, setLaunch] = useState<{ url: string; expires_at: string } | null>(null)
  const connection = call('connectStatusPageCustomDomain', { path: { id: pageId }, body: { domain } })
  const start = async () => {
    const launched = await run(() => execute(connection.name, connection.arguments))
    if (launched) setLaunch(launched.data)
  }
  const url = launch && nowMs < Date.parse(launch.expires_at) ? launch.url : null
  const name = provider.name ?? 'Your DNS provider'
  return (
    <div class="banner">
      <p>{name} can set both records for you. It asks for your consent and changes nothing before.</p>
      <div class="actions">
        {url === null ? (
          <button type="button" class="main" disabled={isBusy} onClick={start}>
            Prepare Domain Connect
          </button>
        ) : (
          <a class="button main" href={url} target="_blank" rel="noreferrer">
            Continue at {name}
          </a>
        )}
      </div>
      {error && (
        <p class="wrong" role="alert">
          {error.message}.
        </p>
      )}
      <AsCall call={connection} />
    </div>
  )
}
