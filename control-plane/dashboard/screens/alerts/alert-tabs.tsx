const TABS = [
  { path: '/log', name: 'Deliveries' },
  { path: '/settings/channels', name: 'Channels' },
] as const

/** The pages about alerts, above the content of each. */
export const AlertTabs = ({ current }: { current: (typeof TABS)[number]['path'] }) => (
  <nav class="tabs" aria-label="Alerts">
    {TABS.map(({ path, name }) => (
      <a key={path} href={path} aria-current={path === current ? 'page' : undefined}>
        {name}
      </a>
    ))}
  </nav>
)
