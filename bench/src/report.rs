//! Tables on standard output.

/// Rows of a name and figures.
#[derive(Debug)]
pub(crate) struct Table {
    title: &'static str,
    columns: Vec<&'static str>,
    rows: Vec<(String, Vec<String>)>,
}

impl Table {
    pub(crate) fn new(title: &'static str, columns: &[&'static str]) -> Self {
        Self { title, columns: columns.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, name: impl Into<String>, figures: Vec<String>) {
        self.rows.push((name.into(), figures));
    }

    pub(crate) fn print(&self) {
        let width =
            self.rows.iter().map(|(name, _)| name.chars().count()).chain([self.title.chars().count()]).max();
        let width = width.unwrap_or_default();
        print!("{:width$}", self.title);
        for column in &self.columns {
            print!("  {column}");
        }
        println!();
        for (name, figures) in &self.rows {
            print!("{name:width$}");
            for (figure, column) in figures.iter().zip(&self.columns) {
                print!("  {figure:>column_width$}", column_width = column.chars().count());
            }
            println!();
        }
        println!();
    }
}
