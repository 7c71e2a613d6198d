import type { Explanation } from '../../../verdict/core/types.ts'
import type { OperationResponse } from '../../core/operations.ts'
import type { Result } from '../../core/screen.ts'
import { ExplanationPanel } from '../../parts/explanation.tsx'
import { Section } from '../../parts/layout/section.tsx'
import { Empty, Failure, Loaded } from '../../parts/layout/states.tsx'
import { Ago, Moment } from '../../parts/moment.tsx'
import { Status } from '../../parts/status.tsx'

type Transition = OperationResponse<'listMonitorTransitions'>['data'][number]

/** Every change of status, each with the votes that decided it. */
export const TransitionsSection = ({
  result,
  incidents,
}: {
  result: Result<OperationResponse<'listMonitorTransitions'>>
  incidents: Result<OperationResponse<'listIncidents'>>
}) => (
  <Section id="transitions" title="Changes of status" aside={<OpenIncident result={incidents} />}>
    <Failure result={incidents} what="The incidents" />
    <Loaded result={result} what="The changes of status">
      {({ data }) =>
        data.length === 0 ? (
          <Empty text="The status has not changed yet." />
        ) : (
          <ol class="list">
            {data.map((transition, i) => (
              <TransitionItem key={transition.id} transition={transition} isOpen={i === 0 && transition.to !== 'up'} />
            ))}
          </ol>
        )
      }
    </Loaded>
  </Section>
)

function TransitionItem({ transition, isOpen }: { transition: Transition; isOpen: boolean }) {
  const { to, at, summary } = transition
  const explanation = transition.explanation as Partial<Explanation>
  const isExplained = explanation.votes !== undefined
  const head = (
    <>
      <Status status={to ?? 'unknown'} /> <Moment at={at} />{' '}
      <span class="soft small">
        <Ago at={at} />
      </span>
      <span class="summary" dir="auto">
        {summary}
      </span>
    </>
  )
  return (
    <li>
      {isExplained ? (
        <details class="transition" open={isOpen}>
          <summary>{head}</summary>
          <ExplanationPanel explanation={explanation as Explanation} />
        </details>
      ) : (
        <div class="transition">{head}</div>
      )}
    </li>
  )
}

function OpenIncident({ result }: { result: Result<OperationResponse<'listIncidents'>> }) {
  const open = result.data?.data.find(({ resolved_at: at }) => at === null)
  return open ? <a href={`/incidents/${open.id}`}>Open incident</a> : null
}
