export const dynamic = 'force-dynamic'

export function GET() {
  return Response.json({ hello: 'from a route of Next.js' })
}
