import { type Db, execute } from '../../control-plane/foundation/platform/postgres/client.ts'

/** Makes PostgreSQL refuse the deliveries of a project with the error "refused". Returns the function that ends it. */
export async function refuseDeliveries(db: Db, projectId: string): Promise<() => Promise<unknown>> {
  await execute(
    db,
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$`,
  )
  await execute(
    db,
    `CREATE TRIGGER refuse BEFORE INSERT ON deliveries FOR EACH ROW
     WHEN (NEW.project_id = '${projectId}') EXECUTE FUNCTION refuse()`,
  )
  return () => execute(db, 'DROP FUNCTION refuse CASCADE')
}
