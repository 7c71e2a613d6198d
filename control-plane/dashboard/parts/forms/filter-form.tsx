import type { ComponentChildren } from 'preact'
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
  children,
}: {
  /** of the list */
  path: string
  /** what is filtered, such as `incidents` */
  what: string
  /** whether a filter is set, so that all of them can be removed */
  isFiltered: boolean
  children: ComponentChildren
}) {
  const { navigate } = useFrame()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    navigate(buildAddress(path, readValues(event.currentTarget as HTMLFormElement)))
  }
  return (
    <form class="filters" method="get" action={path} aria-label={`Filter ${what}`} onSubmit={submit}>
      {children}
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
