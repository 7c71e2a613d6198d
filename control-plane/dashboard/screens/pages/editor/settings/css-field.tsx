import { useRef } from 'preact/hooks'
import type { FormErrors } from '../../../../parts/forms/field-errors.ts'
import { describeControl, FieldError } from '../../../../parts/forms/fields.tsx'
import type { Judgement } from '../preview/use-preview.ts'

const PATH = 'custom_css'
const LIST_ID = 'css-problems'

/** The custom CSS with the numbers of its lines. A refused line says at its end why. */
export function CssField({
  value,
  problems,
  isJudging,
  errors,
  onChange,
}: {
  value: string
  problems: Judgement['problems']
  /** the problems are those of an earlier text */
  isJudging: boolean
  errors: FormErrors
  onChange(css: string): void
}) {
  const text = useRef<HTMLTextAreaElement>(null)
  const lines = value.split('\n')
  const byLine = new Map(problems.map(problem => [problem.line, problem.message]))
  const control = describeControl({ path: PATH, errors, hint: true })
  const goTo = ({ line, column }: Judgement['problems'][number]) => {
    const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0)
    text.current?.focus()
    text.current?.setSelectionRange(start + column - 1, start + (lines[line - 1]?.length ?? 0))
  }
  return (
    <div class="field code-field">
      <label for={control.id}>Custom CSS</label>
      <div class="code">
        <div class="code-lines" aria-hidden="true">
          {lines.map((line, i) => (
            <div key={i} class={byLine.has(i + 1) ? 'refused' : undefined}>
              <span dir="auto">{line || ' '}</span>
              {byLine.has(i + 1) && <b dir="auto">{byLine.get(i + 1)}</b>}
            </div>
          ))}
        </div>
        <textarea
          {...control}
          ref={text}
          value={value}
          dir="auto"
          rows={1}
          wrap="off"
          aria-invalid={problems.length > 0 || control['aria-invalid'] ? 'true' : undefined}
          aria-describedby={[control['aria-describedby'], LIST_ID].filter(Boolean).join(' ')}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          onInput={event => onChange(event.currentTarget.value)}
        />
      </div>
      <small id={`${control.id}-hint`}>
        It applies below the page and wins over the template. It cannot load anything or use position: fixed.
      </small>
      <div id={LIST_ID} role="status" class="small">
        {problems.length > 0 && (
          <ul class={isJudging ? 'plain-list soft' : 'plain-list'}>
            {problems.map(problem => (
              <li key={problem.line} class="wrong">
                <button type="button" class="plain" onClick={() => goTo(problem)}>
                  Line {problem.line}
                </button>
                : <bdi>{problem.message}</bdi>
              </li>
            ))}
          </ul>
        )}
        {problems.length > 0 && <p class="soft">The preview and the page keep the CSS that was accepted last.</p>}
      </div>
      <FieldError path={PATH} errors={errors} />
    </div>
  )
}
