import { AREA_PAGES } from '../../core/navigation.ts'

type TabbedArea = keyof typeof AREA_PAGES

/** The pages of an area, above the content of each. `current`: the path of the page. */
export const AreaTabs = <Area extends TabbedArea>({
  area,
  current,
}: {
  area: Area
  current: (typeof AREA_PAGES)[Area][number]['path']
}) => (
  <nav class="tabs" aria-label={`Sections of ${area}`}>
    {AREA_PAGES[area].map(({ path, name }) => (
      <a key={path} href={path} aria-current={path === current ? 'page' : undefined}>
        {name}
      </a>
    ))}
  </nav>
)
