import { useEffect, useRef, useState } from 'preact/hooks'
import { useFollowing } from '../../../browser/following.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors, toFormError } from '../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { getShownStatus, Status } from '../../../parts/status.tsx'
import { Strip } from '../../../parts/strip.tsx'
import { AddressField, listLiveRegions, type RegionRecord } from '../monitors/fields/main-fields.tsx'
import { useTest } from '../monitors/form-body.tsx'
import { findFormProblems, toCreateBody } from '../monitors/state/monitor-body.ts'
import { EMPTY_FORM, type MonitorRecord } from '../monitors/state/monitor-form.ts'
import { applyProposals, completeAddress, proposeType } from '../monitors/state/proposals.ts'
import { TestResults } from '../monitors/try-it.tsx'
import { NextStep } from './next-step.tsx'
import { takeTypedAddress } from './typed-address.ts'

type Votes = OperationResponse<'listMonitorVotes'>['data']

const toForm = (url: string) => ({ ...EMPTY_FORM, type: proposeType(url), url: completeAddress(proposeType(url), url) })

/** One field: the address is tried in every region with a probe, and then monitored. */
export function MonitorStep({
  address,
  regions,
  skipPath,
}: {
  address: string
  regions: readonly RegionRecord[] | null
  skipPath: string
}) {
  const { execute, navigate, isInteractive } = useFrame()
  const [form, setForm] = useState(() => toForm(address))
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const live = listLiveRegions(regions)
  const test = useTest({ ...form, regions: live?.length ? live : null }, regions, attempt)
  const body = toCreateBody(applyProposals(form, live))
  const { onLeave, ...pressing } = useTestOnLeave(form.url, test)
  useEffect(() => {
    if (takeTypedAddress(address)) void test.run()
  }, [])
  const create = async () => {
    const problem = toFormError(findFormProblems(form))
    if (problem) return attempt.setError(problem)
    const created = await attempt.run(() => execute('createMonitor', { body }))
    if (created) navigate(`/start?${new URLSearchParams({ step: 'monitor', monitor: created.data.id })}`)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    void (test.results ? create() : test.run())
  }
  return (
    <form class="step scripted" ref={element} noValidate onSubmit={submit} {...pressing}>
      <h2>What should be monitored?</h2>
      <fieldset class="plain stack" disabled={!isInteractive}>
        <div onFocusOut={onLeave}>
          <AddressField
            form={form}
            errors={buildFormErrors(attempt.error?.details ?? [])}
            change={part => {
              if (part.url !== undefined && part.url !== form.url)
                setForm({ ...form, ...part, type: proposeType(part.url) })
            }}
          />
        </div>
        <FormMessages error={attempt.error} shown={['url']} />
        {(test.isBusy || test.results) && (
          <TestResults regions={test.regions} results={test.isBusy ? null : test.results} />
        )}
        <div class="actions">
          <button type="button" class={test.results ? undefined : 'main'} disabled={test.isBusy} onClick={test.run}>
            Try it
          </button>
          <button type="button" class={test.results ? 'main' : undefined} disabled={attempt.isBusy} onClick={create}>
            Create the monitor
          </button>
          <a class="button quiet" href={`/monitors/new?${new URLSearchParams({ url: form.url })}`}>
            More settings
          </a>
        </div>
      </fieldset>
      <AsCall call={call('createMonitor', { body })} />
      <NextStep path={skipPath} text="" isDone={false} />
    </form>
  )
}

/**
 * Tries an address when its field is left. Not while a button is pressed, because results would move it under the pointer.
 * Returns the handlers of the field (`onLeave`) and of its form.
 */
function useTestOnLeave(url: string, test: Pick<ReturnType<typeof useTest>, 'run' | 'results'>) {
  const [left, setLeft] = useState('')
  const isPressed = useRef(false)
  useEffect(() => {
    if (left !== '' && left === url && !test.results) void test.run()
  }, [left])
  return {
    onLeave: () => !isPressed.current && setLeft(toForm(url).url),
    onPointerDown: () => {
      isPressed.current = true
    },
    onPointerUp: () => {
      isPressed.current = false
    },
  }
}

/** The monitor that was just created, until and after its first verdict. */
export function CreatedMonitor({
  monitor,
  votes,
  nextPath,
}: {
  monitor: MonitorRecord
  votes: Votes | null
  nextPath: string
}) {
  const { refresh } = useFrame()
  const { id, name, url, status, is_paused: isPaused } = monitor
  const isWaiting = status === null && !isPaused
  useFollowing(isWaiting ? id : null, refresh)
  return (
    <section class="step" aria-labelledby="first-verdict">
      <h2 id="first-verdict" dir="auto">
        {name}
      </h2>
      <p class="soft" dir="auto">
        {url}
      </p>
      <p class="first-verdict" role="status">
        <Strip
          label="Votes now"
          bars={(votes?.votes ?? []).map(({ region, vote }) => ({ name: region, state: vote ?? 'none' }))}
        />{' '}
        {isWaiting ? 'Waiting for the first checks …' : <Status status={getShownStatus(monitor)} />}
      </p>
      {!isWaiting && (
        <p>
          This is the first verdict. <a href={`/monitors/${id}`}>Open the monitor</a>
        </p>
      )}
      <NextStep path={nextPath} text="Next: who is alerted?" isDone />
    </section>
  )
}
