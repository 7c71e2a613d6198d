import type { Knex } from 'knex'

/**
 * Imports of uploaded files (docs/design/import-jobs.md): the job, its converted file in encrypted parts until it is applied,
 * and its plan or result, one row an item.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE import_jobs (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      status text NOT NULL
        CHECK (status IN ('uploading', 'reading', 'planning', 'ready', 'applying', 'applied', 'failed')),
      source text NOT NULL,
      prune boolean NOT NULL,
      file_name text,
      bytes bigint NOT NULL DEFAULT 0,
      -- whether import_file_parts has the whole file
      has_file boolean NOT NULL DEFAULT false,
      done integer NOT NULL DEFAULT 0,
      total integer NOT NULL DEFAULT 0,
      summary jsonb,
      error jsonb,
      -- the run that works on the job; another one must not finish it
      run_id uuid,
      alive_at timestamptz NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE UNIQUE INDEX import_jobs_running ON import_jobs (project_id)
      WHERE status IN ('uploading', 'reading', 'planning', 'applying');
    CREATE INDEX import_jobs_by_project ON import_jobs (project_id, id DESC);
    CREATE INDEX import_jobs_by_age ON import_jobs (created_at);

    CREATE TABLE import_file_parts (
      job_id uuid NOT NULL REFERENCES import_jobs ON DELETE CASCADE,
      position integer NOT NULL,
      project_id uuid NOT NULL,
      -- a list of entries of one section as JSON, encrypted
      content bytea NOT NULL,
      PRIMARY KEY (job_id, position)
    );

    CREATE TABLE import_items (
      job_id uuid NOT NULL REFERENCES import_jobs ON DELETE CASCADE,
      position integer NOT NULL,
      action text NOT NULL,
      has_warnings boolean NOT NULL,
      key text NOT NULL,
      item jsonb NOT NULL,
      PRIMARY KEY (job_id, position)
    );
  `)
}
