import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { NeedsScript } from '../../../parts/calls/as-call.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Loaded } from '../../../parts/layout/states.tsx'
import { AlertRules } from './alert-rules.tsx'
import { ParentFields } from './fields/parents.tsx'
import { LifecycleSection } from './lifecycle.tsx'
import { SettingsForm } from './settings-form.tsx'

/** `/monitors/:id/settings` */
export const monitorSettingsScreen = screen({
  path: '/monitors/:id/settings',
  area: 'monitors',
  record: 'monitor',
  queries: ({ params: { id = '' } }) => ({
    monitor: read('readMonitor', { path: { id } }),
    regions: read('listRegions', { query: { per_page: 100 } }),
    rules: read('listAlertRules', { query: { monitor_id: id } }),
    channels: read('listAlertChannels', { query: { per_page: 100 } }),
    parents: read('listMonitorParents', { path: { id } }),
  }),
  title: ({ results }) => `Settings of ${results.monitor.data!.data.name}`,
  Body: ({ results }) => {
    const { me } = useFrame()
    const monitor = results.monitor.data!.data
    return (
      <>
        <p class="trail">
          <a href="/monitors">Monitors</a>
          <span aria-hidden="true">/</span>
          <a href={`/monitors/${monitor.id}`} dir="auto">
            {monitor.name}
          </a>
        </p>
        <div class="screen-head">
          <div>
            <h1>Settings</h1>
          </div>
          {canWrite(me) && (
            <a class="button" href={`/monitors/new?copy=${monitor.id}`}>
              Make a copy
            </a>
          )}
        </div>
        <NeedsScript
          what="Changing a monitor"
          call={call('updateMonitor', { path: { id: monitor.id }, body: { interval_seconds: 30 } })}
        />
        <SettingsForm key={monitor.id} monitor={monitor} regions={results.regions.data?.data ?? null} />
        <Section id="alerts" title="Who is alerted">
          <Loaded result={results.channels} what="The channels">
            {channels => (
              <Loaded result={results.rules} what="The rules">
                {rules => <AlertRules monitorId={monitor.id} channels={channels} rules={rules.data} />}
              </Loaded>
            )}
          </Loaded>
        </Section>
        <Section id="parents" title="Parents">
          <Loaded result={results.parents} what="The parents">
            {({ data }) => <ParentFields key={data.monitor_id} stored={data} />}
          </Loaded>
        </Section>
        {canWrite(me) && <LifecycleSection monitor={monitor} />}
      </>
    )
  },
})
