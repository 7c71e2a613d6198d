/** The pages about one status page. The path of each is below `/pages/:id`. */
const TABS = [
  { path: '', name: 'Editor' },
  { path: '/subscribers', name: 'Subscribers' },
  { path: '/domain', name: 'Domain' },
  { path: '/embeds', name: 'Embeds' },
] as const

/** Above each page about a status page. `current`: the name of the tab. */
export const PageTabs = ({ id, current }: { id: string; current: (typeof TABS)[number]['name'] }) => (
  <nav class="tabs" aria-label="Pages of this status page">
    {TABS.map(({ path, name }) => (
      <a key={name} href={`/pages/${id}${path}`} aria-current={name === current ? 'page' : undefined}>
        {name}
      </a>
    ))}
  </nav>
)
