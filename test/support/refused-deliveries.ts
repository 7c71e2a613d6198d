import { type Db, execute } from '../../control-plane/foundation/platform/postgres/client.ts'

type Refusal = {
  on?: 'INSERT' | 'UPDATE'
  /** the SQLSTATE; default: that of RAISE EXCEPTION */
  code?: string
}

/** Makes PostgreSQL refuse the deliveries of a project with the error "refused". Returns the function that ends it. */
export async function refuseDeliveries(
  db: Db,
  projectId: string,
  { on = 'INSERT', code = 'P0001' }: Refusal = {},
): Promise<() => Promise<unknown>> {
  await execute(
    db,
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '${code}'; END $$`,
  )
  await execute(
    db,
    `CREATE TRIGGER refuse BEFORE ${on} ON deliveries FOR EACH ROW
     WHEN (NEW.project_id = '${projectId}') EXECUTE FUNCTION refuse()`,
  )
  return () => execute(db, 'DROP FUNCTION refuse CASCADE')
}
