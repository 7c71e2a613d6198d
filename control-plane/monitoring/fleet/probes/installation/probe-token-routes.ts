import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import { REGIONS } from '../../../../../shared/checks/check.ts'
import type { Db } from '../../../../foundation/platform/postgres/client.ts'
import { withRequestActor } from '../../../../foundation/web/auth/audit-actor.ts'
import { createRoute } from '../../../../foundation/web/resource-routes.ts'
import type { App } from '../../../../foundation/web/server/app.ts'
import { Id, nullable, strictObject, stringEnum, Timestamp } from '../../../../foundation/web/validation/schemas.ts'
import { createSingleProbeToken } from '../enrolment-actions.ts'
import { buildInstallCommand, INSTALLER } from './install-command.ts'

/** `folder`: what `npm run build:probe` filled. */
type TokenContext = { db: Db; publicUrl: string; publicFleetUrl: URL; folder: string }

const ProbeToken = Type.Object(
  {
    id: Id,
    region: stringEnum(REGIONS),
    token: Type.String({ description: 'Enrols one probe. It is shown only once.' }),
    expires_at: Timestamp,
    install_command: nullable(
      Type.String({
        description:
          'One line for a shell on the new machine (Linux with systemd and sudo): it installs the probe as a service. Null when the installer is not on the server.',
      }),
    ),
  },
  { title: 'ProbeToken' },
)

/** `POST /probe-tokens`, for the operator (docs/design/assignments.md#enrolment). */
export function probeTokenRoutes(app: App, { db, publicUrl, publicFleetUrl, folder }: TokenContext): void {
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
      const isInstallable = await stat(join(folder, INSTALLER)).then(
        () => true,
        () => false,
      )
      const { id, token, expiresAt } = await createSingleProbeToken(withRequestActor(db, request), region)
      const installCommand = isInstallable ? buildInstallCommand({ publicUrl, fleet: publicFleetUrl, token }) : null
      return { id, region, token, expires_at: expiresAt!, install_command: installCommand }
    },
  })
}
