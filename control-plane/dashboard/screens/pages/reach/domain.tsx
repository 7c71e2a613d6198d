import { useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, type OperationError, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AsCall, NeedsScript } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { buildFormErrors, toFormError } from '../../../parts/forms/field-errors.ts'
import { TextField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { Section } from '../../../parts/layout/section.tsx'
import { Moment } from '../../../parts/moment.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { CopyField } from './copy-field.tsx'
import { Analysis, type DomainAnalysisRecord, isLocalName } from './domain-analysis.tsx'
import { PageHead, type StatusPageRecord } from './page-head.tsx'
import { useVerification } from './verification.ts'

/** `/pages/:id/domain` */
export const pageDomainScreen = screen({
  path: '/pages/:id/domain',
  area: 'pages',
  record: 'page',
  queries: ({ params: { id = '' } }) => ({
    page: read('readStatusPage', { path: { id } }),
    project: read('readProject', {}),
  }),
  title: ({ results }) => `Domain of ${results.page.data!.data.name}`,
  Body: ({ results }) => {
    const { me, isInteractive } = useFrame()
    const page = results.page.data!.data
    const project = results.project.data?.data
    const isAllowed = project?.limits.custom_domain !== false
    const { id, custom_domain: domain } = page
    return (
      <>
        <PageHead page={page} current="Domain" />
        <NeedsScript
          what="Setting a domain"
          call={call('updateStatusPageCustomDomain', { path: { id }, body: { domain: 'status.example.com' } })}
        />
        <Served page={page} />
        {!isAllowed && (
          <NotIncluded page={page} plan={project?.plan ?? ''} organizationId={me?.organization.id ?? 'ORGANIZATION'} />
        )}
        <NeedsRole what="Changing the domain" needed="editor" />
        {canWrite(me) && isInteractive && isAllowed && domain === null && <NewDomain page={page} />}
        {canWrite(me) && isInteractive && isAllowed && domain !== null && (
          <Progress key={domain} page={page} domain={domain} />
        )}
        {canWrite(me) && domain !== null && (
          <Section id="delete" title="Remove">
            <DeleteForm
              what="domain"
              name={domain}
              consequences="The page stops being served there at once. Its address at this installation stays."
              call={call('deleteStatusPageCustomDomain', { path: { id } })}
              onDone={() => {}}
            />
          </Section>
        )}
      </>
    )
  },
})

/** Who can allow custom domains. The command is shown where the installation runs on this machine. */
const NotIncluded = ({
  page,
  plan,
  organizationId,
}: {
  page: StatusPageRecord
  plan: string
  organizationId: string
}) => (
  <div class="missing">
    <p>
      The <a href="/settings#plan">plan</a> {plan} has no custom domains
      {page.custom_domain !== null && '. A verified domain is still served'}. The operator of this installation changes
      plans.
    </p>
    {isLocalName(new URL(page.public_url).hostname) && (
      <>
        <p>If you run the installation on this machine, this command changes the plan:</p>
        <CopyField label="the command" value={`npm run admin -- plan set ${organizationId} pro`} />
      </>
    )}
  </div>
)

const Served = ({ page }: { page: StatusPageRecord }) => {
  const { custom_domain: domain, custom_domain_verified_at: at } = page
  if (domain === null)
    return (
      <p class="sentence">
        The page is at <bdi class="mono">{page.public_url}</bdi>.
      </p>
    )
  return (
    <p class="sentence">
      {at === null ? (
        <>
          <bdi class="mono">{domain}</bdi> is not verified yet. Until then visitors use <bdi>{page.public_url}</bdi>.
        </>
      ) : (
        <>
          <bdi class="mono">{domain}</bdi> has been verified since <Moment at={at} />.
        </>
      )}
    </p>
  )
}

/** Analyzes a domain, which changes nothing, and sets it. */
function NewDomain({ page }: { page: StatusPageRecord }) {
  const { execute } = useFrame()
  const [domain, setDomain] = useState('')
  const [analysis, setAnalysis] = useState<DomainAnalysisRecord | null>(null)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  useLeaveQuestion(domain.trim() !== '')
  const args = { path: { id: page.id }, body: { domain: domain.trim() } }
  const isMissing = () => {
    const message = 'domain is required, such as status.example.com'
    const problem = toFormError(domain.trim() === '' ? [{ path: 'domain', message }] : [])
    attempt.setError(problem)
    return problem !== null
  }
  const analyze = async () => {
    setAnalysis(null)
    if (!isMissing())
      setAnalysis((await attempt.run(() => execute('analyzeStatusPageCustomDomain', args)))?.data ?? null)
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!isMissing() && (await attempt.run(() => execute('updateStatusPageCustomDomain', args)))) setDomain('')
  }
  return (
    <form class="setup" ref={element} noValidate onSubmit={submit}>
      <div class="stack">
        <TextField
          path="domain"
          label="Domain"
          hint="A name in a zone that you control. The page is served at its root."
          placeholder="status.example.com"
          value={domain}
          errors={buildFormErrors(attempt.error?.details ?? [])}
          onChange={text => {
            setDomain(text)
            setAnalysis(null)
          }}
        />
        <FormMessages error={attempt.error} shown={['domain']} />
        <div class="actions">
          <button type="submit" class="main" disabled={attempt.isBusy}>
            Set the domain
          </button>
          <button type="button" disabled={attempt.isBusy} onClick={analyze}>
            Analyze only
          </button>
          <span role="status">{attempt.isBusy && 'Reading DNS…'}</span>
        </div>
        {analysis && <Analysis analysis={analysis} page={page} />}
      </div>
      <div class="consequences">
        <p class="soft small">
          Setting a domain changes nothing for visitors until its records are in place. Two records are needed: one that
          points here, and one that proves that the domain is yours.
        </p>
        <AsCall call={call('updateStatusPageCustomDomain', args)} />
      </div>
    </form>
  )
}

/** Verifies a domain that is set, again and again until its certificate is there. */
function Progress({ page, domain }: { page: StatusPageRecord; domain: string }) {
  const { analysis, error, isBusy, isWatching, verify } = useVerification(page.id)
  return (
    <Section
      id="progress"
      title="Progress"
      aside={
        <button type="button" disabled={isBusy} onClick={verify}>
          Verify now
        </button>
      }
    >
      <div>
        {error && <Refused error={error} />}
        {analysis ? (
          <Analysis analysis={analysis} page={page} />
        ) : (
          !error && <p role="status">Reading the records of {domain}…</p>
        )}
      </div>
      {isWatching && <p class="soft small">The records are read again every 15 seconds while this page is open.</p>}
      <AsCall call={call('verifyStatusPageCustomDomain', { path: { id: page.id } })} />
    </Section>
  )
}

const Refused = ({ error }: { error: OperationError }) => (
  <p class="wrong" role="alert">
    {error.message}.
  </p>
)
