export default function App() {
  return <h1>Welcome to Create React App</h1>;
}
