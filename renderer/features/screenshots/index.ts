/** The parts that other features may use. */
export { DeviceFrames } from './device-frames.tsx'
export { Thumbnail } from './thumbnail.tsx'
