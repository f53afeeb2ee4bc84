export default function Home() {
  return <h1>Hello from SolidStart</h1>
}
