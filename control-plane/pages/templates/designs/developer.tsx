import { STATUS_INDICATORS, STATUS_LETTERS } from '../labels.ts'
import { Days } from '../parts/charts/days.tsx'
import { ResponseChart } from '../parts/charts/response-chart.tsx'
import { ComponentName, Components, type RowComponent } from '../parts/components.tsx'
import { Footer, Masthead, Overall, StaleNotice } from '../parts/frame.tsx'
import { OpenIncidents } from '../parts/incidents/incidents.tsx'
import { Maintenance } from '../parts/incidents/maintenance.tsx'
import { PastIncidents } from '../parts/incidents/past-incidents.tsx'
import { IsoTimes, Moment } from '../parts/moment.tsx'
import { buildPageLinks, type PageTemplate, type TemplatePage } from '../template.ts'

/** For developers: a sidebar with API addresses, ids, codes and ISO times. */
export const developer: PageTemplate = {
  voice: name => ({
    components: 'components',
    noComponents: `[] – ${name} has no components yet`,
    openIncidents: 'incidents.open',
    maintenance: 'maintenance',
    pastIncidents: 'incidents.past',
    quiet: '[]',
    subscribe: 'subscribe',
  }),
  Layout: page => (
    <IsoTimes.Provider value={true}>
      <a class="skip" href="#main">
        Skip to the status
      </a>
      <header class="side">
        <Masthead page={page} />
        <Addresses page={page} />
      </header>
      <main id="main">
        <StaleNotice view={page.view} />
        <Overall page={page}>
          <code>indicator: {STATUS_INDICATORS[page.view.overall.status]}</code>
        </Overall>
        <OpenIncidents page={page} />
        <Components page={page} row={Entry} />
        <Maintenance page={page} />
        <PastIncidents page={page} />
      </main>
      <Footer page={page} />
    </IsoTimes.Provider>
  ),
}

function Addresses({ page: { view } }: { page: TemplatePage }) {
  const links = buildPageLinks(view)
  return (
    <nav aria-label="Feeds and API">
      <h2>JSON</h2>
      <ul>
        {['summary', 'status', 'components', 'incidents'].map(name => (
          <li>
            <a href={`${links.api}/${name}.json`}>
              <b>GET</b> <span class="path">/api/v2/</span>
              {name}.json
            </a>
          </li>
        ))}
      </ul>
      <h2>Feeds</h2>
      <ul>
        <li>
          <a href={links.rss}>feed.rss</a>
        </li>
        <li>
          <a href={links.atom}>feed.atom</a>
        </li>
        <li>
          <a href={links.subscribe}>email, webhook</a>
        </li>
      </ul>
      <pre>curl -s {links.api}/status.json</pre>
    </nav>
  )
}

const Entry: RowComponent = ({ component }) => {
  const { id, status, updatedAt } = component
  return (
    <li class="component" id={`c-${id}`}>
      <ComponentName component={component} />
      <code class={`status ${STATUS_LETTERS[status]}`}>{status}</code>
      <Days component={component} />
      <ResponseChart component={component} />
      <p class="ids">
        <code>{id}</code> <Moment at={updatedAt} />
      </p>
    </li>
  )
}
