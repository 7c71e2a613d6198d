import { type ComponentChildren, Fragment } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { buildAddress } from '../../core/address.ts'
import { useFrame } from '../../core/frame-context.ts'

/** The values that are sent. Fields of the dashboard's filters are texts. */
const readValues = (form: HTMLFormElement): Record<string, string> =>
  Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]))

/** The filters of a list. The address contains them, so that the list can be shared and works without scripts. */
export function FilterForm({
  path,
  what,
  isFiltered,
  filter = '',
  children,
}: {
  /** of the list */
  path: string
  /** what is filtered, such as `incidents` */
  what: string
  /** whether a filter is set, so that all of them can be removed */
  isFiltered: boolean
  /** names the filter of the address: when it changes, the fields show it */
  filter?: string
  children: ComponentChildren
}) {
  const { navigate } = useFrame()
  const form = useRef<HTMLFormElement>(null)
  /** the field in which the form was submitted */
  const submittedIn = useRef<string | null>(null)
  useLayoutEffect(() => {
    const field = submittedIn.current && form.current?.elements.namedItem(submittedIn.current)
    if (field instanceof HTMLElement) field.focus()
    submittedIn.current = null
  }, [filter])
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const submitted = event.currentTarget as HTMLFormElement
    submittedIn.current = submitted.ownerDocument.activeElement?.getAttribute('name') ?? null
    navigate(buildAddress(path, readValues(submitted)))
  }
  return (
    <form class="filters" method="get" action={path} aria-label={`Filter ${what}`} onSubmit={submit} ref={form}>
      <Fragment key={filter}>{children}</Fragment>
      <button type="submit">Filter</button>
      {isFiltered && (
        <a class="button quiet" href={path}>
          Show all
        </a>
      )}
    </form>
  )
}

/** A choice of one value. The first option, without a value, does not filter. */
export const FilterChoice = ({
  name,
  label,
  all,
  value,
  options,
}: {
  name: string
  /** for screen readers; `all` is what others see */
  label: string
  /** the option that does not filter: `Any severity` */
  all: string
  value: string | null
  options: readonly (readonly [value: string, name: string])[]
}) => (
  <select name={name} aria-label={label}>
    <option value="">{all}</option>
    {options.map(([option, text]) => (
      <option key={option} value={option} selected={option === value}>
        {text}
      </option>
    ))}
  </select>
)
