/** Whether a new preview starts with empty volumes or with a snapshot of production's. */
export const previewVolumesSql = `
ALTER TABLE projects ADD COLUMN preview_volumes TEXT NOT NULL DEFAULT 'empty' CHECK (preview_volumes IN ('empty', 'snapshot'));
`
