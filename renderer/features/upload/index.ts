/** The parts that other features may use. */
export { DropZone } from './drop-zone.tsx'
export { UploadArchiveDialog, ArchiveDropArea } from './upload-dialog.tsx'
export { useProjectUpload } from './use-project-upload.ts'
