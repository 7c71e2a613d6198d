import { Type } from 'typebox'
import { REGIONS } from '../../../../../shared/checks/check.ts'
import type { Db } from '../../../../foundation/platform/postgres/client.ts'
import { withRequestActor } from '../../../../foundation/web/auth/audit-actor.ts'
import { createRoute } from '../../../../foundation/web/resource-routes.ts'
import type { App } from '../../../../foundation/web/server/app.ts'
import { Id, strictObject, stringEnum, Timestamp } from '../../../../foundation/web/validation/schemas.ts'
import { createSingleProbeToken } from '../enrolment-actions.ts'
import { buildInstallCommand } from './install-command.ts'

type TokenContext = { db: Db; publicUrl: string; publicFleetUrl: URL }

const ProbeToken = Type.Object(
  {
    id: Id,
    region: stringEnum(REGIONS),
    token: Type.String({ description: 'Enrols one probe. It is shown only once.' }),
    expires_at: Timestamp,
    install_command: Type.String({
      description:
        'One line for a shell on the new machine (Linux with systemd and sudo): it installs the probe as a service.',
    }),
  },
  { title: 'ProbeToken' },
)

/** `POST /probe-tokens`, for the operator (docs/design/assignments.md#enrolment). */
export function probeTokenRoutes(app: App, { db, publicUrl, publicFleetUrl }: TokenContext): void {
  createRoute(app, '/probe-tokens', {
    config: { operator: true, scope: 'admin' },
    summary: 'Create a token that enrols a probe',
    description:
      'The token enrols one probe in a region within 7 days. Needs an admin key of the operator project. `npm run admin -- probe-token revoke` revokes it.',
    tags: ['Operator'],
    body: strictObject({ region: stringEnum(REGIONS) }),
    record: ProbeToken,
    errors: [400, 403],
    create: async request => {
      const { region } = request.body
      const { id, token, expiresAt } = await createSingleProbeToken(withRequestActor(db, request), region)
      const installCommand = buildInstallCommand({ publicUrl, fleet: publicFleetUrl, token })
      return { id, region, token, expires_at: expiresAt!, install_command: installCommand }
    },
  })
}
